package machines

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"

	"tandem/engine/api"
	"tandem/ui/cli/output"
)

// spread runs a command on hosts; f returns its output, status and error on a host.
func spread(s *Spread, hosts []string, f func(host string) (stdout string, status int, failed error)) (stdout, stderr string, status int) {
	var out, errs bytes.Buffer
	s.Out.Stdout, s.Out.Stderr = &out, &errs
	s.Run = func(host string, _ *output.Gather, stdout, stderr io.Writer) (int, error) {
		text, status, failed := f(host)
		_, _ = io.WriteString(stdout, text)
		if failed != nil {
			_, _ = fmt.Fprintf(stderr, "tandem: %v\n", failed)
		}
		return status, failed
	}
	status = s.On(hosts)
	return out.String(), errs.String(), status
}

func names(count int) (hosts []string) {
	for i := range count {
		hosts = append(hosts, fmt.Sprintf("m%04d", i))
	}
	return hosts
}

func TestSpreadGroupsMachinesWithEqualResults(t *testing.T) {
	stdout, stderr, status := spread(&Spread{Group: true, Max: 16}, names(1000), func(host string) (string, int, error) {
		switch host {
		case "m0007", "m0100":
			return "", 1, errors.New("broken")
		case "m0500", "m0501": // the text differs
			return "", 125, api.Errorf(api.CodeUnavailable, "reach machine %s", host).WithReason(api.ReasonMachineOffline)
		}
		return "6.8.0\n", 0, nil
	})
	if status != output.StatusPartial || strings.Count(stdout, "6.8.0\n") != 996 {
		t.Errorf("status %d, %d lines", status, strings.Count(stdout, "\n"))
	}
	_, table, found := strings.Cut(stderr, "996 × ok, 2 × exit 1, 2 × offline\n")
	if !found {
		t.Fatalf("stderr ends with %q", stderr[max(0, len(stderr)-1000):])
	}
	for _, line := range []string{"m0000, m0001, m0002, m0003, m0004 and 991 more", "m0007, m0100", "m0500, m0501"} {
		if !strings.Contains(table, line) {
			t.Errorf("the table lacks %q:\n%s", line, table)
		}
	}
	if lines := strings.Count(strings.TrimSpace(table), "\n"); lines != 3 {
		t.Errorf("%d lines for three results:\n%s", lines, table)
	}
}

func TestSpreadLimitsTheNumberOfGroups(t *testing.T) {
	_, stderr, _ := spread(&Spread{Group: true}, names(100), func(host string) (string, int, error) { return host + "\n", 0, nil })
	if strings.Count(stderr, "\n") > maxGroups+4 || !strings.Contains(stderr, "and 80 other results") {
		t.Errorf("stderr is\n%s", stderr)
	}
}

func TestSpreadLimitsConcurrentMachines(t *testing.T) {
	var now, most atomic.Int64
	spread(&Spread{Max: 3}, names(50), func(string) (string, int, error) {
		most.Store(max(most.Load(), now.Add(1)))
		defer now.Add(-1)
		return "x\n", 0, nil
	})
	if most.Load() > 3 {
		t.Errorf("%d at a time", most.Load())
	}
}
