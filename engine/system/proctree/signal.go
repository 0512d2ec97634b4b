package proctree

import (
	"strconv"
	"strings"

	"tandem/engine/api"
	"tandem/engine/base/names"

	"golang.org/x/sys/unix"
)

const maxSignal = 64

// ParseSignal parses the name of a signal, in any case and with or without SIG, or its number.
func ParseSignal(text string) (unix.Signal, error) {
	wrong := func(why string) error {
		return api.Errorf(api.CodeInvalid, "signal %s: %s", names.Shown(text), why).
			WithHint("give a name such as SIGHUP or HUP, or a number such as 1")
	}
	if n, err := strconv.Atoi(text); err == nil {
		if n < 1 || n > maxSignal {
			return 0, wrong("no signal has that number")
		}
		return unix.Signal(n), nil
	}
	name := strings.ToUpper(text)
	if !strings.HasPrefix(name, "SIG") {
		name = "SIG" + name
	}
	if s := unix.SignalNum(name); s != 0 {
		return s, nil
	}
	return 0, wrong("no signal has that name")
}
