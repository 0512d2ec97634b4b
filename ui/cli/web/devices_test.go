package web

import (
	"testing"
	"time"

	"tandem/engine/page/devices"
)

// Scripts compare the value of may, so it has no details.
func TestDeviceAccessIsAStableJSONValue(t *testing.T) {
	until := time.Date(2026, 5, 3, 8, 14, 0, 0, time.Local)
	for _, c := range []struct {
		device devices.Device
		value  string
		text   string
	}{
		{devices.Device{Key: "k"}, "all", "all"},
		{devices.Device{Key: "k", Grant: devices.Grant{ReadOnly: true}}, "look", "look"},
		{devices.Device{Key: "k", Grant: devices.Grant{ReadOnly: true, Session: "build", Until: until}}, "session", "see build until 08:14"},
		{devices.Device{}, "nothing", "nothing, pair again"},
	} {
		row := deviceRow{May: deviceAccess(c.device), Session: c.device.Session, Until: c.device.Until, PairAgain: c.device.PairAgain()}
		if row.May != c.value || row.access() != c.text {
			t.Errorf("%+v: %q, shown as %q", c.device, row.May, row.access())
		}
	}
}
