package processes

import "testing"

func TestByteSizeAcceptsUnits(t *testing.T) {
	for text, want := range map[string]int64{
		"65536": 64 << 10, "64k": 64 << 10, "64 KiB": 64 << 10, "2MB": 2 << 20, "1.5g": 3 << 29, "1TiB": 1 << 40, "none": 1 << 60,
		"": 0, "0": 0, "10": 0, "-1MB": 0, "1XB": 0, "NaN": 0, "InfM": 0, "9999999T": 0, "MB": 0,
	} {
		if got, err := parseSize(text); got != want || (err == nil) != (want > 0) {
			t.Errorf("%q is %d, %v", text, got, err)
		}
	}
}
