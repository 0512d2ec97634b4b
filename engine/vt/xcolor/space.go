package xcolor

import (
	"math"
	"strconv"
	"strings"
)

// A triple is a colour in some space: three components as they were written.
type triple [3]float64

// xyzWhite is the white point of the screen that X assumes when it knows
// nothing of the real one, as CIE XYZ.
var xyzWhite = triple{0.94966, 1, 1.40604}

// xyzToLinear gives the intensities of that screen's red, green and blue.
var xyzToLinear = [3]triple{
	{3.4834, -1.5218, -0.5592},
	{-1.0715, 1.9659, 0.0367},
	{0.0635, -0.2002, 0.8107},
}

// linearToXYZ is xyzToLinear the other way round.
var linearToXYZ = [3]triple{
	{0.38106, 0.32026, 0.24835},
	{0.20730, 0.68055, 0.11215},
	{0.02134, 0.14297, 1.24173},
}

// A tone is how one of that screen's components answers to values: the
// intensity at each of some values, and the power of it that is close to
// linear between them. The first value is the least that is not dark.
type tone struct {
	power     float64
	value     [tonePoints]float64
	intensity [tonePoints]float64
}

const tonePoints = 10

var tones = [3]tone{
	{0.38,
		[...]float64{9, 11, 20, 40, 80, 120, 160, 200, 240, 255},
		[...]float64{0, 0.001, 0.002329, 0.009699, 0.052373, 0.147610, 0.309278, 0.546082, 0.861571, 1}},
	{0.47,
		[...]float64{19, 20, 23, 40, 80, 120, 160, 200, 240, 255},
		[...]float64{0, 0.000832, 0.0015, 0.008428, 0.056520, 0.165176, 0.343441, 0.587797, 0.882164, 1}},
	{0.52,
		[...]float64{14, 15, 20, 40, 80, 120, 160, 200, 240, 255},
		[...]float64{0, 0.0013, 0.002080, 0.009357, 0.056154, 0.162915, 0.339410, 0.583291, 0.880093, 1}},
}

// parseTriple reads three numbers with slashes between them.
func parseTriple(s string) (t triple, ok bool) {
	parts := strings.Split(s, "/")
	if len(parts) != len(t) {
		return t, false
	}
	for i, p := range parts {
		v, err := strconv.ParseFloat(p, 64)
		if err != nil || math.IsNaN(v) || math.Abs(v) > 1000 {
			return t, false
		}
		t[i] = v
	}
	return t, true
}

// spaceColor reads a colour of one of the spaces that XParseColor knows beside
// RGB. What is darker than black or brighter than white is none.
func spaceColor(space, spec string) (rgb uint32, ok bool) {
	c, ok := parseTriple(spec)
	if !ok {
		return 0, false
	}
	upTo := func(v, most float64) bool { return v >= 0 && v <= most }
	switch space {
	case "rgbi":
		return linearColor(c), min(c[0], c[1], c[2]) >= 0 && max(c[0], c[1], c[2]) <= 1
	case "ciexyz":
		ok = upTo(c[1], 1)
	case "ciexyy":
		c, ok = xyzOfChromaticity(c), upTo(c[2], 1)
	case "cieuvy":
		c, ok = xyzOfUV(c), upTo(c[2], 1)
	case "cielab":
		c, ok = xyzOfLab(c), upTo(c[0], 100)
	case "cieluv":
		c, ok = xyzOfLuv(c), upTo(c[0], 100)
	case "tekhvc":
		c, ok = xyzOfTek(c), upTo(c[1], 100) && c[2] >= 0
	default:
		return 0, false
	}
	if !ok {
		return 0, false
	}
	return xyzColor(c)
}

// xyzColor gives a colour of CIE XYZ, or the one most like it that the screen
// can show.
func xyzColor(c triple) (rgb uint32, ok bool) {
	for _, v := range c {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return 0, false
		}
	}
	linear := linearOfXYZ(c)
	if !displayable(linear) {
		linear = intoGamut(c)
	}
	return linearColor(linear), true
}

// linearColor gives the colour of three intensities.
func linearColor(c triple) (rgb uint32) {
	for i := range c {
		rgb = rgb<<8 | toneValue(i, c[i])
	}
	return rgb
}

// toneValue gives the value at which a component has an intensity.
func toneValue(component int, intensity float64) uint32 {
	if intensity <= 0 {
		return 0
	}
	t := &tones[component]
	i, power := 1, 1.0
	for i < tonePoints-1 && intensity > t.intensity[i] {
		i, power = i+1, t.power
	}
	low, high := math.Pow(t.intensity[i-1], power), math.Pow(t.intensity[i], power)
	part := (math.Pow(min(intensity, 1), power) - low) / (high - low)
	return uint32(math.Round(t.value[i-1] + part*(t.value[i]-t.value[i-1])))
}

// xyzOfChromaticity reads CIE xyY.
func xyzOfChromaticity(c triple) triple {
	x, y, bright := c[0], c[1], c[2]
	return triple{x * bright / y, bright, (1 - x - y) * bright / y}
}

// xyzOfUV reads CIE u'v'Y.
func xyzOfUV(c triple) triple {
	u, v, bright := c[0], c[1], c[2]
	return triple{bright * 9 * u / (4 * v), bright, bright * (12 - 3*u - 20*v) / (4 * v)}
}

// xScale is how much larger X takes a*, b*, u* and v* than the CIE does, for
// which 100 is the lightness of white and not 1.
const xScale = 100

// xyzOfLab reads CIE L*a*b*. Near black X takes L for a fraction of 1, and so
// does this.
func xyzOfLab(c triple) triple {
	l, a, b := c[0], c[1], c[2]
	f := (l + 16) / 116
	if l < 7.99953624 {
		y := l / 9.03292
		return triple{xyzWhite[0] * (y + a/3893.5), y, xyzWhite[2] * (y - b/1557.4)}
	}
	fx, fz := f+xScale*a/500, f-xScale*b/200
	return triple{xyzWhite[0] * fx * fx * fx, f * f * f, xyzWhite[2] * fz * fz * fz}
}

// xyzOfLuv reads CIE L*u*v*.
func xyzOfLuv(c triple) triple {
	if c[0] == 0 {
		return triple{}
	}
	u, v := whiteUV()
	d := 13 * c[0] / xScale
	return xyzOfUV(triple{u + c[1]/d, v + c[2]/d, brightness(c[0])})
}
