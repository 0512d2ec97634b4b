package approval

import (
	"fmt"

	"tandem/engine/secrets"
	"tandem/engine/vt/scan"
)

// maxAuditText is the number of bytes of a text in the audit log.
const maxAuditText = 2000

// Auditable returns a copy of arguments with secrets masked and long texts shortened.
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
	// In a call that sets a variable, another argument has the variable's name.
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
		// Bound lists as well as texts.
		safe := make([]any, min(len(v), 100))
		for i := range safe {
			safe[i] = auditableValue(v[i])
		}
		return safe
	}
	return value
}

// CutText shortens s to maxAuditText bytes and appends its original length.
func CutText(s string) string {
	if len(s) <= maxAuditText {
		return s
	}
	return fmt.Sprintf("%s… (%d bytes)", s[:scan.CompleteLen([]byte(s[:maxAuditText]))], len(s))
}
