import CompactCollections
import Foundation
import Ordering

/// A position in the history of one or several stores: after one transaction of each.
///
/// Archive it to continue from there in a later run of the program.
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

    /// Whether both tokens stand for the same position.
    ///
    /// - Parameter object: what to compare with.
    /// - Returns: `false` for anything but a token of the same position.
    open override func isEqual(_ object: Any?) -> Bool {
        (object as? NSPersistentHistoryToken).map { $0.numbers == numbers } ?? false
    }

    /// A hash of the position.
    open override var hash: Int { numbers.hashValue }

    /// The stores and the numbers of their transactions.
    open override var description: String {
        let places = numbers.ordered { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
        return "<NSPersistentHistoryToken \(places.joined(separator: ", "))>"
    }

    // MARK: Coding

    /// `true`: tokens support secure coding.
    open class var supportsSecureCoding: Bool { true }

    private static let numbersKey = "NSPersistentHistoryTokenDictionary"

    /// Archives the token.
    ///
    /// - Parameter coder: a keyed coder.
    open func encode(with coder: NSCoder) {
        let dictionary = NSMutableDictionary()
        for (store, number) in numbers { dictionary.setObject(NSNumber(value: number), forKey: store as NSString) }
        coder.encode(dictionary.copy() as? NSDictionary, forKey: Self.numbersKey)
    }

    /// Reads an archived token; `nil` for anything else.
    ///
    /// - Parameter coder: a keyed coder.
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
