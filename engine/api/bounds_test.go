package api

import (
	"reflect"
	"testing"
)

func TestBoundsUseTheHomeDirectoryOfTheOtherMachine(t *testing.T) {
	b := Bounds{
		Name: "x", Roots: []string{"/home/me", "/home/me/work", "/srv", "/home/metoo"}, Base: "/home/me/work", ReadOnly: true,
		Sandbox: &Sandbox{Filesystem: SandboxFilesystem{DenyRead: []string{"/home/me/.ssh"}, AllowWrite: []string{"/tmp", "/home/me/work"}, DenyWrite: []string{"/home/me/work/.git"}}, Network: &SandboxNetwork{}},
	}
	want := Bounds{
		Name: "x", Roots: []string{"/root", "/root/work", "/srv", "/home/metoo"}, Base: "/root/work", ReadOnly: true,
		Sandbox: &Sandbox{Filesystem: SandboxFilesystem{DenyRead: []string{"/root/.ssh"}, AllowWrite: []string{"/tmp", "/root/work"}, DenyWrite: []string{"/root/work/.git"}}, Network: &SandboxNetwork{}},
	}
	if got := b.AbbreviateHome("/home/me").ExpandHome("/root"); !reflect.DeepEqual(got, want) {
		t.Errorf("there they are %+v %+v", got, got.Sandbox)
	}
	if b.Roots[0] != "/home/me" || b.Sandbox.Filesystem.DenyRead[0] != "/home/me/.ssh" {
		t.Errorf("here they have become %+v", b)
	}
}
