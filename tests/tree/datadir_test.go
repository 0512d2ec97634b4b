package tree

import (
	"os"
	"strings"
	"testing"

	"tandem/persist/datadir"
)

func TestStoragePageListsTheDataFolder(t *testing.T) {
	text, err := os.ReadFile("docs/internals/storage.md")
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(string(text), "$TANDEM_DATA_DIR, or ")
	list, _, _ = strings.Cut(list, "```")
	for _, name := range datadir.Names() {
		if !strings.Contains(list, name) {
			t.Errorf("the list of files in a data folder lacks %s", name)
		}
	}
}
