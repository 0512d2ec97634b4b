package approval

import (
	"os"
	"strings"
	"testing"
)

func TestPolicyOfAnotherUserIsRejected(t *testing.T) {
	r := newPolicyRig(t)
	r.write(denyingRM)
	r.expect("before", "rm x", "deny")
	r.write("default = \"allow\"")
	if err := os.Chmod(r.path, 0o666); err != nil {
		t.Fatal(err)
	}
	r.expect("everybody's", "rm x", "deny")
	if fault := r.a.Fault(); !strings.Contains(fault, "anyone can write to it") || !strings.Contains(fault, "chmod o-w "+r.path) {
		t.Errorf("fault %q", fault)
	}
	if err := os.Chmod(r.path, 0o600); err != nil {
		t.Fatal(err)
	}
	r.expect("mine again", "rm x", "allow")
}
