package approval

import (
	"fmt"

	"tandem/engine/secrets"
	"tandem/engine/vt/scan"
)

// auditText is how much of one text goes into the audit log.
const auditText = 2000

// Auditable is a copy of arguments without secrets and with long texts cut.
func Auditable(arguments map[string]any) map[string]any {
	if arguments == nil {
		return nil
	}
	safe := make(map[string]any, len(arguments))
	for name, value := range arguments {
		if secrets.IsSecretName(name) {
			value = secrets.Mask
		}
		safe[name] = auditableValue(value)
	}
	// A variable that is set names itself in another argument.
	for _, field := range []string{"key", "name"} {
		if name, ok := arguments[field].(string); ok && secrets.IsSecretName(name) && safe["value"] != nil {
			safe["value"] = secrets.Mask
		}
	}
	return safe
}

func auditableValue(value any) any {
	switch v := value.(type) {
	case string:
		return CutText(secrets.RedactLine(v))
	case map[string]any:
		return Auditable(v)
	case []any:
		safe := make([]any, min(len(v), 100))
		for i := range safe {
			safe[i] = auditableValue(v[i])
		}
		return safe
	}
	return value
}

func CutText(s string) string {
	if len(s) <= auditText {
		return s
	}
	return fmt.Sprintf("%s… (%d bytes)", s[:scan.Whole([]byte(s[:auditText]))], len(s))
}
