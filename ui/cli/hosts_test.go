package cli

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"tandem/ui/cli/factory"
	"testing"
)

func TestMachinesPageListsCommandsWithoutHostFlag(t *testing.T) {
	text, err := os.ReadFile("../../docs/machines.md")
	if err != nil {
		t.Fatal(err)
	}
	_, list, found := strings.Cut(string(text), "These commands work on this machine only: ")
	list, _, end := strings.Cut(list, ".\n")
	if !found || !end {
		t.Fatal("docs/machines.md does not list the commands")
	}
	var listed, want []string
	for _, name := range regexp.MustCompile("`([a-z-]+)`").FindAllStringSubmatch(list, -1) {
		listed = append(listed, name[1])
	}
	for _, c := range newRoot(factory.New(factory.Options{Version: "1"})).Commands() {
		if !c.Hidden && factory.ReachOf(c) == factory.Here {
			want = append(want, c.Name())
		}
	}
	slices.Sort(want)
	slices.Sort(listed)
	if !slices.Equal(listed, want) {
		t.Errorf("it lists\n%s, want\n%s", strings.Join(listed, " "), strings.Join(want, " "))
	}
}

func TestEveryCommandSaysWhichMachinesItReaches(t *testing.T) {
	f := factory.New(factory.Options{Version: "1"})
	for _, newCommand := range commands() {
		switch cmd := newCommand(f); factory.ReachOf(cmd) {
		case factory.Here, factory.One, factory.Several:
		default:
			t.Errorf("%s has no reach; set its Annotations, as in factory.One.Annotations()", cmd.Name())
		}
	}
}
