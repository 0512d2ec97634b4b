package toolkit

import (
	"encoding/json"
	"testing"
)

func TestCursorIsOneOrTwoNumbers(t *testing.T) {
	for text, want := range map[string]Cursor{
		`18`:        {At: 18},
		`"18"`:      {At: 18},
		`-2000`:     {At: -2000},
		`"-2000"`:   {At: -2000},
		`"120+37"`:  {At: 120, Stderr: 37, Split: true},
		`"0+0"`:     {Split: true},
		`null`:      {},
		`100000000`: {At: 100_000_000},
	} {
		var got Cursor
		if err := json.Unmarshal([]byte(text), &got); err != nil || got != want {
			t.Errorf("%s is %+v, %v; want %+v", text, got, err, want)
		}
		var again Cursor
		b, err := json.Marshal(got)
		if err == nil {
			err = json.Unmarshal(b, &again)
		}
		if err != nil || again != got {
			t.Errorf("%+v is written %s and read %+v, %v", got, b, again, err)
		}
	}
	for _, text := range []string{`true`, `{}`, `""`, `"end"`, `1.5`, `"1+"`, `"+1"`, `"1+-2"`, `"-1+2"`, `"1+2+3"`, `"null"`} {
		var got Cursor
		if err := json.Unmarshal([]byte(text), &got); err == nil {
			t.Errorf("%s is %+v", text, got)
		}
	}
}

func TestCursorOfASessionIsKeptUntilItIsRemoved(t *testing.T) {
	var s Seen
	if c, known := s.At("a"); known || c != (Cursor{}) {
		t.Errorf("of what it never saw: %+v, %v", c, known)
	}
	s.Set("a", Cursor{At: 3})
	s.Set("b", Cursor{At: 4, Stderr: 5, Split: true})
	s.Remove("a")
	if _, known := s.At("a"); known {
		t.Error("what is gone is known")
	}
	if c, known := s.At("b"); !known || c != (Cursor{4, 5, true}) {
		t.Errorf("of b: %+v, %v", c, known)
	}
}

func TestEmptyPollsAreCountedUntilNewOutput(t *testing.T) {
	var s Seen
	for i := range 3 {
		s.Set("a", Cursor{At: 5})
		if n := s.CountEmptyPoll("a"); n != i+1 {
			t.Errorf("look %d is number %d", i+1, n)
		}
	}
	s.Set("a", Cursor{At: 6})
	if n := s.CountEmptyPoll("a"); n != 1 {
		t.Errorf("after something new it is number %d", n)
	}
	s.SwapScreen("a", []string{"x"})
	if n := s.CountEmptyPoll("a"); n != 1 {
		t.Errorf("after another screen it is number %d", n)
	}
}
