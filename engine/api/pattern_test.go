package api

import "testing"

func TestErrorShowsThePatternAsTyped(t *testing.T) {
	_, err := Pattern{Text: "zzz(", Regexp: true}.Compile()
	if err == nil || err.Error() != "search: missing closing ): `zzz(`" {
		t.Errorf("%v", err)
	}
}
