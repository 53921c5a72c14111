import Foundation

/// A property whose value is the result of a fetch request: a weak, one-way relationship.
///
/// In the request's predicate, `$FETCH_SOURCE` is the object that has the property and `$FETCHED_PROPERTY` this
/// description.
open class NSFetchedPropertyDescription: NSPropertyDescription {
    /// The request whose result is the property's value.
    open var fetchRequest: NSFetchRequest<any NSFetchRequestResult>? {
        willSet { willChangeDescription() }
        didSet { fetchRequest?.joinProperty() }
    }

    package override var request: (any EntityRequest)? { fetchRequest }

    package override func computes(theSameAs other: NSPropertyDescription) -> Bool {
        fetchRequest == (other as? NSFetchedPropertyDescription)?.fetchRequest
    }

    /// What Core Data prints of a fetched property, and its request, for logs and debuggers.
    open override var description: String {
        "\(describedProperty), fetchRequest \(DescriptionText.value(fetchRequest))"
    }

    package override func emptyCopy() -> NSPropertyDescription { NSFetchedPropertyDescription() }

    package override func copyContents(to copy: NSPropertyDescription) {
        super.copyContents(to: copy)
        (copy as? NSFetchedPropertyDescription)?.fetchRequest =
            fetchRequest?.copy() as? NSFetchRequest<any NSFetchRequestResult>
    }
}
