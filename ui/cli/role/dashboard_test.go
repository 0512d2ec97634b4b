package role

import (
	"errors"
	"slices"
	"testing"

	"tandem/persist/config"
)

func TestReopenCommandKeepsHome(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, "tandem"},
		{[]string{"files", "--home", "x"}, "tandem"},
		{[]string{"--home", "/tmp/try"}, "tandem --home /tmp/try"},
		{[]string{"--home=/tmp/try", "files"}, "tandem --home /tmp/try"},
		{[]string{"--home", "/tmp/a b"}, "tandem --home '/tmp/a b'"},
	} {
		if got := withHome("tandem", c.args); got != c.want {
			t.Errorf("after %q: %q, want %q", c.args, got, c.want)
		}
	}
}

func TestNextDashboardStartsWithSavedChoices(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", dir)
	conf, err := config.Load()
	if err != nil {
		t.Fatal(err)
	}
	o := savedOptions(conf, dir)
	if !o.ShowTips || o.Recent != nil {
		t.Errorf("the first dashboard shows tips: %v, recent choices: %q", o.ShowTips, o.Recent)
	}
	_, themeErr := o.KeepTheme("dracula")
	_, prefixErr := o.KeepPrefix("ctrl+a")
	if err := errors.Join(themeErr, prefixErr); err != nil {
		t.Fatal(err)
	}
	o.HideTips()
	o.KeepRecent([]string{"action pane.zoom"})

	if conf, err = config.Load(); err != nil {
		t.Fatal(err)
	}
	o = savedOptions(conf, dir)
	if o.Settings.Theme != "dracula" || !o.Settings.PrefixChosen || o.ShowTips || !slices.Equal(o.Recent, []string{"action pane.zoom"}) {
		t.Errorf("the next dashboard has the options %+v", o)
	}
}
