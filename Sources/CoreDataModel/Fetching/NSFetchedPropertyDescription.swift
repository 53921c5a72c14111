import Foundation

/// A property whose value is what a fetch request finds: a weak, one-way relationship.
///
/// In the request's predicate, `$FETCH_SOURCE` is the object that has the property and `$FETCHED_PROPERTY` this
/// description.
open class NSFetchedPropertyDescription: NSPropertyDescription {
    /// The request that gives the property its value.
    open var fetchRequest: NSFetchRequest<any NSFetchRequestResult>? { willSet { willChangeDescription() } }

    package override func emptyCopy() -> NSPropertyDescription { NSFetchedPropertyDescription() }

    package override func copyContents(to copy: NSPropertyDescription) {
        super.copyContents(to: copy)
        (copy as? NSFetchedPropertyDescription)?.fetchRequest =
            fetchRequest?.copy() as? NSFetchRequest<any NSFetchRequestResult>
    }
}
