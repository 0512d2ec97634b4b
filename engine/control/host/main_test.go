package host

import (
	"testing"

	"tandem/tests/leaks"
)

func TestMain(m *testing.M) { leaks.Main(m) }
