import CoreData

/// A property that a form changes: its text for the confirmation, and the change itself.
struct EditChange {
    enum Action {
        case value(Any?)
        /// The object that a relationship leads to; nil for none.
        case destination(NSManagedObjectID?)
        case destinations(added: [NSManagedObjectID], removed: [NSManagedObjectID])
    }

    /// Why a typed text is no value.
    struct Refusal: Error, Equatable {
        let message: String
    }

    /// The property; an element of a composite attribute is named with its way: `address.street`.
    let name: String
    /// The present and the new value, in words.
    let before: String
    let after: String
    let action: Action
}
