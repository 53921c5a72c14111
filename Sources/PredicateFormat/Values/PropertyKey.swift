import Foundation
import Synchronization

/// Property names as small integers, so that generated accessors and predicates find a value without hashing a string.
package enum PropertyKey {
    private static let table = Mutex<[String: Int]>([:])

    /// The number of a name: the same for every model, as long as the process runs.
    package static func intern(_ name: String) -> Int {
        table.withLock { table in
            if let known = table[name] { return known }
            let number = table.count
            table[name] = number
            return number
        }
    }

    /// The number of a name that a model has; nil for others, since names from format strings must not fill the table.
    package static func number(of name: String) -> Int? {
        table.withLock { $0[name] }
    }
}
