import Foundation

/// A place in the history of one or several stores: after a transaction of each.
///
/// Archive it to go on from there when the program runs again.
open class NSPersistentHistoryToken: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
    // @unchecked Sendable: immutable.

    /// The number of the latest transaction by the UUID of the store.
    package let numbers: [String: Int64]

    package init(_ numbers: [String: Int64]) {
        self.numbers = numbers
        super.init()
    }

    /// Tokens are immutable: the copy is the token itself.
    ///
    /// - Parameter zone: not used.
    /// - Returns: the object itself.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// Whether tokens stand for the same place.
    ///
    /// - Parameter object: what to compare with.
    /// - Returns: `false` for anything but a token of the same place.
    open override func isEqual(_ object: Any?) -> Bool {
        (object as? NSPersistentHistoryToken).map { $0.numbers == numbers } ?? false
    }

    /// A hash of the place.
    open override var hash: Int { numbers.hashValue }

    /// The stores and the numbers of their transactions.
    open override var description: String {
        let places = numbers.ordered { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
        return "<NSPersistentHistoryToken \(places.joined(separator: ", "))>"
    }

    // MARK: Coding

    /// Tokens can be decoded where only classes that are expected may be.
    open class var supportsSecureCoding: Bool { true }

    private static let numbersKey = "NSPersistentHistoryTokenDictionary"

    /// Archives the token.
    ///
    /// - Parameter coder: a coder with keys.
    open func encode(with coder: NSCoder) {
        let dictionary = NSMutableDictionary()
        for (store, number) in numbers { dictionary.setObject(NSNumber(value: number), forKey: store as NSString) }
        coder.encode(dictionary.copy() as? NSDictionary, forKey: Self.numbersKey)
    }

    /// Reads an archived token; `nil` for something else.
    ///
    /// - Parameter coder: a coder with keys.
    public required init?(coder: NSCoder) {
        let classes: [AnyClass] = [NSDictionary.self, NSString.self, NSNumber.self]
        guard let dictionary = coder.decodeObject(of: classes, forKey: Self.numbersKey) as? NSDictionary else {
            return nil
        }
        var numbers: [String: Int64] = [:]
        for (store, number) in dictionary {
            guard let store = store as? String, let number = number as? NSNumber else { return nil }
            numbers[store] = number.int64Value
        }
        self.numbers = numbers
        super.init()
    }
}
