package vt

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

// toneLevels are component values at which tones give the intensity.
var toneLevels = [...]float64{20, 40, 80, 120, 160, 200, 240, 255}

// tones are how that screen's red, green and blue answer to values: the
// intensity at toneLevels, and the power of it that is close to linear.
var tones = [3]struct {
	power     float64
	intensity [len(toneLevels)]float64
}{
	{0.38, [...]float64{0.002329, 0.009699, 0.052373, 0.147610, 0.309278, 0.546082, 0.861571, 1}},
	{0.47, [...]float64{0.000832, 0.008428, 0.056520, 0.165176, 0.343441, 0.587797, 0.882164, 1}},
	{0.52, [...]float64{0.002080, 0.009357, 0.056154, 0.162915, 0.339410, 0.583291, 0.880093, 1}},
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
// RGB.
func spaceColor(space, spec string) (rgb uint32, ok bool) {
	c, ok := parseTriple(spec)
	if !ok {
		return 0, false
	}
	switch space {
	case "rgbi":
		return linearColor(c), min(c[0], c[1], c[2]) >= 0 && max(c[0], c[1], c[2]) <= 1
	case "ciexyz":
		return xyzColor(c)
	case "ciexyy":
		return xyzColor(xyzOfChromaticity(c))
	case "cieuvy":
		return xyzColor(xyzOfUV(c))
	case "cielab":
		return xyzColor(xyzOfLab(c))
	case "cieluv":
		return xyzColor(xyzOfLuv(c))
	}
	return 0, false
}

// xyzColor gives a colour of CIE XYZ. As bright as white is white; other
// components that the screen cannot show are cut.
func xyzColor(c triple) (rgb uint32, ok bool) {
	for _, v := range c {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return 0, false
		}
	}
	if c[1] >= xyzWhite[1] {
		return 0xFFFFFF, true
	}
	var linear triple
	for i, row := range xyzToLinear {
		linear[i] = row[0]*c[0] + row[1]*c[1] + row[2]*c[2]
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
	t := &tones[component]
	from, low := 0.0, 0.0
	x := math.Pow(min(max(intensity, 0), 1), t.power)
	for i, level := range toneLevels {
		high := math.Pow(t.intensity[i], t.power)
		if x <= high {
			return uint32(math.Round(from + (level-from)*(x-low)/(high-low)))
		}
		from, low = level, high
	}
	return 255
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

// xyzOfLab reads CIE L*a*b*. Near black X takes L for a fraction of 1, and so
// does this.
func xyzOfLab(c triple) triple {
	l, a, b := c[0], c[1], c[2]
	f := (l + 16) / 116
	if l < 7.99953624 {
		y := l / 9.03292
		return triple{xyzWhite[0] * (y + a/3893.5), y, xyzWhite[2] * (y - b/1557.4)}
	}
	fx, fz := f+a/500, f-b/200
	return triple{xyzWhite[0] * fx * fx * fx, f * f * f, xyzWhite[2] * fz * fz * fz}
}

// xyzOfLuv reads CIE L*u*v*.
func xyzOfLuv(c triple) triple {
	l := c[0]
	bright := l / 903.29
	if l >= 7.99953624 {
		bright = math.Pow((l+16)/116, 3)
	}
	d := xyzWhite[0] + 15*xyzWhite[1] + 3*xyzWhite[2]
	return xyzOfUV(triple{4*xyzWhite[0]/d + c[1]/(13*l), 9*xyzWhite[1]/d + c[2]/(13*l), bright})
}
