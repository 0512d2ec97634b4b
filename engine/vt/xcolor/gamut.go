package xcolor

import "math"

// tekChroma scales TekHVC's chroma, and tekRed is where, as CIE u'v', the hue
// counted from white is 0 (Tektronix, as published with Xcms).
const tekChroma = 7.50725

var tekRed = [2]float64{0.7127, 0.4931}

// faint is an intensity next to none. X finds it where an intensity ought to be
// none, and shows the least value that is not dark.
const faint = 1e-9

// slack is how far off 0…1 an intensity may be and still count as displayable,
// as in Xcms.
const slack = 0.001

// whiteUV is the white point as CIE u'v'.
func whiteUV() (u, v float64) {
	d := xyzWhite[0] + 15*xyzWhite[1] + 3*xyzWhite[2]
	return 4 * xyzWhite[0] / d, 9 * xyzWhite[1] / d
}

// tekZero is the angle around white at which TekHVC's hue is 0.
func tekZero() float64 {
	u, v := whiteUV()
	return math.Atan2(tekRed[1]-v, tekRed[0]-u)
}

// brightness gives CIE Y for a lightness of 0…100, as L*, V of TekHVC.
func brightness(lightness float64) float64 {
	if lightness < 7.99953624 {
		return lightness / 903.29
	}
	return math.Pow((lightness+16)/116, 3)
}

// lightness gives L* of CIE Y.
func lightness(bright float64) float64 {
	if bright < 0.008856 {
		return 903.29 * bright
	}
	return 116*math.Cbrt(bright) - 16
}

// xyzOfTek reads TekHVC: the hue in degrees, value and chroma.
func xyzOfTek(c triple) triple {
	u, v := whiteUV()
	value := c[1]
	if value <= 0 {
		return triple{}
	}
	if value >= 100 {
		return xyzWhite
	}
	sin, cos := math.Sincos(c[0]*math.Pi/180 + tekZero())
	r := c[2] / (value * tekChroma)
	return xyzOfUV(triple{u + r*cos, v + r*sin, brightness(value)})
}

// tekOfXYZ gives the TekHVC of a colour.
func tekOfXYZ(c triple) triple {
	value := lightness(c[1])
	d := c[0] + 15*c[1] + 3*c[2]
	if d == 0 {
		return triple{0, value, 0}
	}
	u, v := whiteUV()
	u, v = 4*c[0]/d-u, 9*c[1]/d-v
	hue := (math.Atan2(v, u) - tekZero()) * 180 / math.Pi
	return triple{hue, value, value * tekChroma * math.Hypot(u, v)}
}

// displayable says whether the screen can show these intensities.
func displayable(linear triple) bool {
	return min(linear[0], linear[1], linear[2]) >= -slack && max(linear[0], linear[1], linear[2]) <= 1+slack
}

// intoGamut gives the intensities of the most colourful colour that the screen
// can show with the hue and the value of c. This is what X makes of colours
// that it cannot show.
func intoGamut(c triple) triple {
	tek := tekOfXYZ(c)
	if tek[1] <= 0 {
		return triple{}
	}
	if tek[1] >= 100 {
		return triple{1, 1, 1}
	}
	out := purest(tek[0])
	most := xyzOfLinear(out)[1]
	bright := brightness(tek[1])
	for i := range out {
		if bright <= most { // on the way from black
			out[i] *= bright / most
		} else { // on the way to white
			out[i] += (1 - out[i]) * (bright - most) / (xyzWhite[1] - most)
		}
		out[i] = max(out[i], faint)
	}
	return out
}

// purest gives the intensities of the most colourful colour of a hue that the
// screen can show: one of them is 0, one is 1.
func purest(hue float64) triple {
	c := linearOfXYZ(xyzOfTek(triple{hue, 40, 120})) // beyond any screen
	low := min(c[0], c[1], c[2])
	span := max(c[0], c[1], c[2]) - low
	for i := range c {
		c[i] = (c[i] - low) / span
	}
	return c
}

func linearOfXYZ(c triple) triple { return transform(&xyzToLinear, c) }

func xyzOfLinear(c triple) triple { return transform(&linearToXYZ, c) }

func transform(m *[3]triple, c triple) (out triple) {
	for i, row := range m {
		out[i] = row[0]*c[0] + row[1]*c[1] + row[2]*c[2]
	}
	return out
}
