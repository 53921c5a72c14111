/// Carries a value to a queue that owns it from then on.
package struct UncheckedTransfer<Value>: @unchecked Sendable {
    // @unchecked Sendable: the code that makes one ensures that only one thread at a time has the value.
    package let value: Value

    package init(value: Value) { self.value = value }
}
