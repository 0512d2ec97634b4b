package sandbox

import (
	"strings"
	"testing"
)

func TestBrokenPromiseNamesTheReason(t *testing.T) {
	broken := func(k kernel) map[string]string {
		all := map[string]string{}
		for _, p := range k.promises() {
			if p.Name == "" || p.Holds != (p.Why == "") {
				t.Errorf("%+v", p)
			}
			if !p.Holds {
				all[p.Name] = p.Why
			}
		}
		return all
	}
	if got := broken(kernel{landlock: 9, resolveUnix: true}); len(got) > 0 {
		t.Errorf("with everything, %v do not hold", got)
	}
	old := broken(kernel{landlock: landlockTCP})
	if len(old) != 3 || !strings.Contains(old["No signal reaches a process outside"], "version 6 (Linux 6.12); this kernel has version 4") {
		t.Errorf("with version 4, %v do not hold", old)
	}
	if none := broken(kernel{landlockErr: errPlatform, seccomp: errPlatform}); len(none) != len(kernel{}.promises()) {
		t.Errorf("elsewhere %v do not hold", none)
	}
	for name := range broken(kernel{landlock: 9, resolveUnix: true, seccomp: errPlatform}) {
		if strings.Contains(name, "denyRead") {
			t.Error(name)
		}
	}
}

// The promises are the features Check relies on.
func TestPromisesAgreeWithCheck(t *testing.T) {
	k := currentKernel()
	for _, p := range Promises() {
		if strings.HasPrefix(p.Name, "Files") && p.Holds != (k.landlock >= landlockTruncate) {
			t.Errorf("%+v on %+v", p, k)
		}
		if strings.HasPrefix(p.Name, "Only allowedDomains") && p.Holds != (k.check(Layers{{Network: &Network{AllowedDomains: []string{"*"}}}}) == nil) {
			t.Errorf("%+v on %+v", p, k)
		}
	}
}
