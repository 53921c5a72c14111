/// How long a store keeps the history of its changes: who changed what and when, and what it was before.
///
/// ```swift
/// let manager = PersistenceManager(models: Book.self, store: .file(url, keepsHistory: .days(90), author: "till 2"))
/// ```
///
/// A history is part of the store. Once it is there, every program has to keep it up: a file that has one is only read
/// by a manager that keeps none. Apple's frameworks keep it up, too, though without what was before.
public struct HistoryKeeping: Hashable, Sendable {
    /// How old a transaction may become, in seconds; nil for any age.
    let age: Double?

    /// Nothing is deleted by itself.
    public static let always = HistoryKeeping(age: nil)

    /// Transactions that are older are deleted when the store is opened.
    ///
    /// - Parameter count: how many days a transaction is kept at least.
    /// - Returns: the rule.
    public static func days(_ count: Int) -> HistoryKeeping { HistoryKeeping(age: Double(count) * 86_400) }
}
