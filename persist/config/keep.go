package config

// KeepTheme writes the theme into the configuration and leaves the rest of the
// file as it is. It returns the file's path.
func KeepTheme(name string) (path string, err error) {
	return keep("theme", name, func(c *Config) { c.Theme = name })
}

// KeepPrefix writes the prefix key into the configuration, as KeepTheme does the
// theme.
func KeepPrefix(key string) (path string, err error) {
	return keep("prefix", key, func(c *Config) { c.Prefix = key })
}

// keep writes a text; set is what that is to do.
func keep(name, value string, set func(*Config)) (path string, err error) {
	return changeFile("write "+name, func(text string, c *Config) string {
		set(c)
		return withValue(text, name, inTOML(value))
	})
}
