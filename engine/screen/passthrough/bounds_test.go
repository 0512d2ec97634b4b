package passthrough

import (
	"strings"
	"testing"
)

// Some terminals repeat an action as often as a parameter says, however long that takes.
func TestFilterLimitsParameters(t *testing.T) {
	for in, want := range map[string]string{
		"x\x1b[2000000000b":                      "x\x1b[9999b",
		"\x1b[00000000005b":                      "\x1b[00000000005b",
		"\x1b[99999;2H\x1b[3;123456L":            "\x1b[9999;2H\x1b[3;9999L",
		"\x1b[1;38:2::255:0:0m\x1b[80b":          "\x1b[1;38:2::255:0:0m\x1b[80b",
		"\x1b[123456$x":                          "\x1b[9999$x",
		"\x1b[" + strings.Repeat("9", 300) + "b": "\x1b[9999b",
		"\u009b2000000000b":                      "\x1b[9999b",
	} {
		for _, size := range []int{1, 3, len(in)} {
			if got, _ := passed(&Filter{MaxClip: testClip}, inPieces([]byte(in), size)...); got != want {
				t.Errorf("%q in pieces of %d becomes %q, want %q", in, size, got, want)
			}
		}
		if got := string(new(Replay).Pass([]byte(in))); got != want {
			t.Errorf("replaying %q gives %q, want %q", in, got, want)
		}
	}
}

// Tags (U+E0000 to U+E007F) are invisible text, except in flags.
func TestFilterDropsInvisibleTags(t *testing.T) {
	const scotland = "\U0001F3F4\U000E0067\U000E0062\U000E0073\U000E0063\U000E0074\U000E007F"
	for in, want := range map[string]string{
		"a\U000E0041b":                                  "ab",
		"\U000E0001\U000E0041":                          "",
		scotland + "x":                                  scotland + "x",
		scotland + "x\U000E0041y":                       scotland + "xy",
		"\U0001F3F4x\U000E0041y":                        "\U0001F3F4xy",
		"\U0001F3F4\U000E007F\U000E0041y":               "\U0001F3F4\U000E007Fy",
		"\U000E0100\U000F0000":                          "\U000E0100\U000F0000",
		"\U0001F3F4" + strings.Repeat("\U000E0041", 20): "\U0001F3F4" + strings.Repeat("\U000E0041", 6),
	} {
		for _, size := range []int{1, 3, len(in)} {
			if got, _ := passed(&Filter{MaxClip: testClip}, inPieces([]byte(in), size)...); got != want {
				t.Errorf("%q in pieces of %d becomes %q, want %q", in, size, got, want)
			}
		}
	}
}
