package manual

import (
	"strings"
	"testing"
)

func TestTheManualFillsTextAndLeavesWhatIsIndentedAsItIs(t *testing.T) {
	var b strings.Builder
	manText(&b, "Some words\nand more:\n  {\"a\":\n   1}\nThe end.\n\nAnother\n  last")
	want := "Some words\nand more:\n.nf\n  {\\(dqa\\(dq:\n   1}\n.fi\nThe end.\n.PP\nAnother\n.nf\n  last\n.fi\n"
	if b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
}
