package client

import "testing"

func TestIsNewerFollowsSemanticVersioning(t *testing.T) {
	ascending := []string{
		"0.1.0-alpha", "0.1.0-alpha.1", "0.1.0-alpha.beta", "0.1.0-beta.2", "0.1.0-beta.11", "0.1.0-rc.1",
		"v0.1.0", "0.1.1", "0.2.0", "0.10.0", "1.0.0-0", "1.0.0", "v2.0.0+build.5", "10.0.0",
	}
	for i, a := range ascending {
		for j, b := range ascending {
			if got := IsNewer(a, b); got != (i > j) {
				t.Errorf("newer(%s, %s) = %v", a, b, got)
			}
		}
	}
	if IsNewer("1.0.0+b", "1.0.0+a") {
		t.Error("build metadata counts")
	}
}

func TestMalformedVersionIsNeverNewer(t *testing.T) {
	for _, s := range []string{"", "devel", "1", "1.2", "1.2.3.4", "1.2.x", "1.2.3-", "-1.2.3", "99999999999.0.0"} {
		if IsNewer(s, "0.0.1") || IsNewer("9.9.9", s) {
			t.Errorf("%q counts as a version", s)
		}
	}
}
