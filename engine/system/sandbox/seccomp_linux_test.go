//go:build amd64 || arm64

package sandbox

import (
	"testing"

	"golang.org/x/sys/unix"
)

// A call is the input of a filter.
type call struct {
	number uint32
	args   [6]uint32
}

// evaluate returns the filter action according to refusals, evaluated in turn.
func evaluate(refusals []refusal, c call) uint32 {
	for _, r := range refusals {
		holds := r.call == c.number
		for _, condition := range r.when {
			found := false
			for _, value := range condition.values {
				found = found || c.args[condition.arg]&condition.mask == value
			}
			holds = holds && found != condition.not
		}
		if holds {
			return unix.SECCOMP_RET_ERRNO | uint32(r.errno)
		}
	}
	return unix.SECCOMP_RET_ALLOW
}

// run executes a filter program as the kernel does.
func run(t *testing.T, program []unix.SockFilter, arch uint32, c call) uint32 {
	t.Helper()
	var a uint32
	for at := 0; at < len(program); at++ {
		i := program[at]
		jump := func(taken bool) {
			if taken {
				at += int(i.Jt)
			} else {
				at += int(i.Jf)
			}
		}
		switch i.Code {
		case unix.BPF_LD | unix.BPF_W | unix.BPF_ABS:
			switch {
			case i.K == dataCall:
				a = c.number
			case i.K == dataArch:
				a = arch
			default:
				a = c.args[(i.K-dataArgs)/8]
			}
		case unix.BPF_ALU | unix.BPF_AND | unix.BPF_K:
			a &= i.K
		case unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K:
			jump(a == i.K)
		case unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K:
			jump(a >= i.K)
		case unix.BPF_RET | unix.BPF_K:
			return i.K
		default:
			t.Fatalf("instruction %d is %+v", at, i)
		}
	}
	t.Fatal("the program has no end")
	return 0
}

func TestFilterMatchesItsRefusals(t *testing.T) {
	for _, k := range []kernel{{}, {resolveUnix: true}} {
		for _, network := range []access{openNetwork, proxyNetwork, noNetwork} {
			refusals := refusalsFor(network, k, specialModes(true))
			program := compileFilter(refusals)
			if got := run(t, program, auditArch+1, call{}); got != unix.SECCOMP_RET_KILL_PROCESS {
				t.Errorf("another architecture gives %#x", got)
			}
			for number := uint32(0); number < 600; number++ {
				for _, value := range []uint32{0, 1, 2, 3, 5, 16, 17, 0x80, tiocsti, tioclinux, unix.MSG_FASTOPEN, unix.CLONE_NEWUSER, 0x80801, 0o4755, 0o2755, unix.O_CREAT, unix.O_TMPFILE} {
					for _, other := range []uint32{0, 1, 2, 6, tiocsti, unix.MSG_FASTOPEN, 0o4755, 0o2755, unix.O_CREAT, unix.O_TMPFILE} {
						c := call{number, [6]uint32{value, other, value, other}}
						if got, want := run(t, program, auditArch, c), evaluate(refusals, c); got != want {
							t.Fatalf("network %v: call %d with %#x and %#x gives %#x, want %#x", network, number, value, other, got, want)
						}
					}
				}
			}
		}
	}
	if compileFilter(nil)[len(compileFilter(nil))-1] != returnAction(unix.SECCOMP_RET_ALLOW) {
		t.Error("no refusals refuse something")
	}
}
