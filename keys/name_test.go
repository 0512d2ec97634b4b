package keys

import (
	"testing"

	"pgregory.net/rapid"

	"tandem/tests/seed"
)

func TestParseReadsCommonSpellings(t *testing.T) {
	cases := map[string]Key{
		"a":              {Code: 'a', Text: "a"},
		"A":              {Code: 'a', Mods: Shift, Text: "A", Shifted: 'A'},
		"shift+a":        {Code: 'a', Mods: Shift, Text: "A"},
		"ctrl+c":         {Code: 'c', Mods: Ctrl},
		"Ctrl+C":         {Code: 'c', Mods: Ctrl},
		"C-c":            {Code: 'c', Mods: Ctrl},
		"^c":             {Code: 'c', Mods: Ctrl},
		"^":              {Code: '^', Text: "^"},
		"M-x":            {Code: 'x', Mods: Alt},
		"alt+shift+left": {Code: Left, Mods: Alt | Shift},
		"f5":             {Code: F5},
		"F24":            {Code: F24},
		"enter":          {Code: Enter},
		"return":         {Code: Enter},
		"space":          {Code: Space, Text: " "},
		"esc":            {Code: Escape},
		"pgup":           {Code: PageUp},
		"PageDown":       {Code: PageDown},
		"backtab":        {Code: Tab, Mods: Shift},
		"+":              {Code: '+', Text: "+"},
		"ctrl++":         {Code: '+', Mods: Ctrl},
		"ctrl+-":         {Code: '-', Mods: Ctrl},
		"-":              {Code: '-', Text: "-"},
		"%":              {Code: '%', Text: "%"},
		"é":              {Code: 'é', Text: "é"},
		"kp5":            {Code: KP5},
		"u+e061":         {Code: 0xe061},
	}
	for name, want := range cases {
		got, err := Parse(name)
		if err != nil || got != want {
			t.Errorf("Parse(%q) = %+v, %v; want %+v", name, got, err, want)
		}
	}
}

func TestParseRejectsInvalidNames(t *testing.T) {
	for _, name := range []string{"", "ctrl+", "foo", "hyperspace+a", "ctrl+foo", "\x03", "ab", "u+110000", "u+zz"} {
		if k, err := Parse(name); err == nil {
			t.Errorf("Parse(%q) = %v, want an error", name, k)
		}
	}
}

func TestStringReturnsCanonicalName(t *testing.T) {
	for in, want := range map[string]string{
		"A": "A", "shift+a": "A", "C-M-x": "ctrl+alt+x", "shift+alt+left": "alt+shift+left",
		"backtab": "shift+tab", "Return": "enter", "alt+A": "alt+shift+a", "pagedown": "pgdown",
	} {
		k, err := Parse(in)
		if err != nil || k.String() != want {
			t.Errorf("Parse(%q).String() = %q, %v; want %q", in, k, err, want)
		}
	}
}

func TestShiftedSymbolHasOneNameInEveryEncoding(t *testing.T) {
	for _, k := range []Key{
		{Code: '%', Text: "%"},
		{Code: '5', Mods: Shift, Shifted: '%', Text: "%"},
		{Code: '5', Mods: Shift | NumLock, Shifted: '%'},
	} {
		if k.String() != "%" {
			t.Errorf("%+v is named %q, want %%", k, k)
		}
	}
}

func TestParseReadsNamesFromString(t *testing.T) {
	seed.Check(t, func(t *rapid.T) {
		k := drawKey(t)
		k.Phase = Press
		got, err := Parse(k.String())
		if err != nil {
			t.Fatalf("Parse(%q): %v", k, err)
		}
		if got.Chord() != k.Chord() {
			t.Fatalf("Parse(%q) = %+v, want %+v", k, got.Chord(), k.Chord())
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"ctrl+alt+f5", "C-M--", "^^", "u+e000", "shift++"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		k, err := Parse(name)
		if err != nil {
			return
		}
		again, err := Parse(k.String())
		if err != nil || again.Chord() != k.Chord() {
			t.Fatalf("%q is %+v, its name %q is %+v, %v", name, k, k, again, err)
		}
	})
}
