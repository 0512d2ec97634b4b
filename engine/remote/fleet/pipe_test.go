package fleet

import (
	"encoding/json"
	"errors"
	"io"
	"testing"

	"tandem/engine/api"
)

func TestCloseReasonKeepsTheError(t *testing.T) {
	sent := api.Errorf(api.CodeForbidden, "").WithReason(api.ReasonOutsideRoot).WithHint("ask")
	body, err := json.Marshal(sent)
	if err != nil {
		t.Fatal(err)
	}
	var got *api.Error
	if !errors.As(closeReason(body), &got) || *got != *sent {
		t.Errorf("%+v", got)
	}
	for _, body := range []string{"", "{}", "x"} {
		if err := closeReason([]byte(body)); err != io.EOF {
			t.Errorf("%q: %v", body, err)
		}
	}
}
