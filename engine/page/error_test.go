package page

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"tandem/engine/api"
)

func TestRefusalKeepsCodeReasonAndHint(t *testing.T) {
	w := httptest.NewRecorder()
	err := api.Errorf(api.CodeInvalid, "read f").WithReason(api.ReasonIsFolder).WithHint("list it")
	writeError(w, http.StatusBadRequest, fmt.Errorf("call: %w", err))
	if got := strings.TrimSpace(w.Body.String()); got != `{"error":"read f","code":"invalid","reason":"is_folder","hint":"list it"}` {
		t.Error(got)
	}
}
