package manual

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

func TestManTextFillsOnlyUnindentedLines(t *testing.T) {
	var b strings.Builder
	manText(&b, "Some words\nand more:\n  {\"a\":\n   1}\nThe end.\n\nAnother\n  last")
	want := "Some words\nand more:\n.nf\n  {\\(dqa\\(dq:\n   1}\n.fi\nThe end.\n.PP\nAnother\n.nf\n  last\n.fi\n"
	if b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
}

func TestWritePagesCreatesItsFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "share", "man1")
	if err := WritePages(dir, &cobra.Command{Use: "tandem", Short: "Keep"}, "1"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "tandem.1")); err != nil {
		t.Error(err)
	}
}
