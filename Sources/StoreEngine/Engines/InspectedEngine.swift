import CoreDataModel

/// An engine for stores that another program may have made, whose tables are matched to the model.
package protocol InspectedEngine: StoreEngine {
    /// The parts of the model that the store does not have, or has ambiguously. Everything else can be used.
    var findings: [SchemaFinding] { get }

    /// The names of the indexes that the model asks for, and the store does not have.
    func missingIndexes() throws -> Set<String>

    /// The references of a relationship that lead to no object, by the primary keys of the referring objects.
    func danglingReferences(
        of relationship: RelationshipLayout, from entity: EntityLayout
    ) throws -> [Int64: [NSManagedObjectID]]
}
