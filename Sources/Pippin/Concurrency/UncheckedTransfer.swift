/// Carries a value to a queue that is its own from then on.
struct UncheckedTransfer<Value>: @unchecked Sendable {
    // @unchecked Sendable: the code that makes one ensures that only one thread at a time has the value.
    let value: Value
}
