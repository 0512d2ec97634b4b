package histdb

import (
	"testing"

	"tandem/persist/logtest"
)

func TestMain(m *testing.M) { logtest.Main(m, nil) }
