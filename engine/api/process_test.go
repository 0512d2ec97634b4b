package api

import "testing"

func TestIsCalledTakesWholeNamesAndLongPrefixesOfIDs(t *testing.T) {
	p := Process{ID: "0123456789ab", Name: "web-admin"}
	for what, want := range map[string]bool{
		"web-admin": true, "0123456789ab": true, "0123": true, "012": false, "web": false, "": false, "0123456789abc": false, "web-admin2": false,
	} {
		if got := p.IsCalled(what); got != want {
			t.Errorf("it is called %q: %v", what, got)
		}
	}
}
