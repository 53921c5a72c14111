import CoreData

/// A property that a form changes: as it is shown to be confirmed, and as it is done.
struct EditChange {
    enum Action {
        case value(Any?)
        /// The object that a relationship leads to; nil for none.
        case destination(NSManagedObjectID?)
        case destinations(added: [NSManagedObjectID], removed: [NSManagedObjectID])
    }

    /// Why something typed is no value.
    struct Refusal: Error, Equatable {
        let message: String
    }

    let name: String
    /// What there is now, and what there would be, in words.
    let before: String
    let after: String
    let action: Action
}
