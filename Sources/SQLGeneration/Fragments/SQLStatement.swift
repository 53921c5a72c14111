import CoreDataModel
import Foundation

/// A statement as a database reads it: its text, and the bindings of those parameters that have one.
package struct SQLStatement: Sendable {
    package let text: String
    package let bindings: [SQLBinding]

    package init(text: String, bindings: [SQLBinding]) {
        self.text = text
        self.bindings = bindings
    }

    /// The bound values.
    package func values(_ context: BindingContext = BindingContext()) throws -> [SQLValue] {
        try bindings.map { try $0.value(context) }
    }
}
