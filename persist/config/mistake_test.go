package config

import (
	"slices"
	"testing"
)

// A mistake elsewhere in the file must not write private sessions to disk, or delete output.
func TestPrivateFoldersAndKeptOutputSurviveAMistake(t *testing.T) {
	const history = "[history]\nprivate = [\"~/secrets\"]\nkeep_output = \"365 days\"\n"
	for name, text := range map[string]string{
		"wrong value":   "theme = 7\n" + history,
		"unknown key":   "themes = \"x\"\n" + history,
		"wrong pattern": history + "ignore = [\"(\"]\n",
		"syntax":        history + "[keys\n",
	} {
		c, err := Parse([]byte(text))
		if err == nil || !slices.Equal(c.History.Private, []string{"~/secrets"}) || c.History.KeepOutput != "365 days" || len(c.History.Ignore) > 0 {
			t.Errorf("%s: %+v, %v", name, c.History, err)
		}
	}
	for _, text := range []string{"theme = 7\n", "[history]\nkeep_output = \"soon\"\n", "[history]\nkeep_output = 7\n"} {
		if c, err := Parse([]byte(text)); err == nil || c.History.KeepOutput.Value() < 36000*24*3600e9 {
			t.Errorf("%q: %+v, %v", text, c.History, err)
		}
	}
}
