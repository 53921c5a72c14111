import CompactCollections
import CoreDataModel
import Foundation

/// How the objects of one version of a model become objects of another.
///
/// ```swift
/// let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: old, destinationModel: new)
/// ```
open class NSMappingModel: NSObject {
    // Set up before a migration, and only read while one runs, on its thread.

    /// The entity mappings, in the order in which a migration carries them out.
    open var entityMappings: [NSEntityMapping]! = []

    /// The entity mappings by name.
    open var entityMappingsByName: [String: NSEntityMapping] {
        Dictionary((entityMappings ?? []).map { ($0.name ?? "", $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// The plan from which the model was inferred; `nil` for one that was read, made or changed by hand. An in-place
    /// migration needs only this.
    package var inferredPlan: MappingPlan? { inferred.flatMap { $0.text == text ? $0.plan : nil } }

    /// The plan, and the mapping model's text when it was made.
    private var inferred: (plan: MappingPlan, text: String)?

    /// Creates a mapping model without mappings.
    public override init() { super.init() }

    /// Creates the mapping model for an inferred plan.
    init(_ plan: MappingPlan, entityMappings: [NSEntityMapping]) {
        super.init()
        self.entityMappings = entityMappings
        inferred = (plan, text)
    }

    /// Whether the other object is a mapping model with the same content.
    ///
    /// - Parameter object: what to compare with.
    /// - Returns: `false` for anything but an equal mapping model.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSMappingModel else { return false }
        return other === self || other.text == text
    }

    /// A hash of the names of the entity mappings.
    open override var hash: Int { (entityMappings ?? []).map(\.name).hashValue }

    /// Infers a mapping between two versions of a model.
    ///
    /// Entities and properties are matched by their renaming identifiers. These changes can be inferred: additions,
    /// removals and renamings; an attribute becoming optional or, with a default value, mandatory; one number type
    /// becoming another; a to-one relationship becoming to-many; a to-many relationship becoming ordered or unordered;
    /// entities and properties moving within a hierarchy or out of it.
    ///
    /// ```swift
    /// let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: old, destinationModel: new)
    /// ```
    ///
    /// - Parameters:
    ///   - sourceModel: the version of the store.
    ///   - destinationModel: the version to migrate to.
    /// - Returns: the mapping model, with an entity mapping for each entity that stays, is added or is removed.
    /// - Throws: an error with code 134190 (`NSInferredMappingModelError`); its user info has the destination's
    ///   `entity` and `property` and the `reason`.
    open class func inferredMappingModel(
        forSourceModel sourceModel: NSManagedObjectModel, destinationModel: NSManagedObjectModel
    ) throws -> NSMappingModel {
        let plan = try MappingInference.plan(from: sourceModel, to: destinationModel)
        return NSMappingModel(
            plan, entityMappings: plan.entities.map { NSEntityMapping($0, from: sourceModel, to: destinationModel) })
    }
}
