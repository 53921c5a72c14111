/// What a writer knows of the number of saves to a store, by which it notices that others have saved.
struct SaveCount {
    /// The number of saves by this program's connection.
    private(set) var own: Int64 = 0
    /// The number of others' saves that the current work depends on; `nil` if it depends on none.
    var expectedOfOthers: Int64?

    /// The number of all saves that the store must have for the current work; `nil` if that does not matter.
    var expected: Int64? { expectedOfOthers.map { $0 &+ own } }

    mutating func noteOwn() { own &+= 1 }
}
