import CoreDataModel

extension EntityMapping {
    /// The fetch indexes of the entity that the store makes one for each.
    ///
    /// As in Core Data's stores, one over just a to-one relationship is not among them, since the column of a
    /// relationship always has an index. A model that was used by Core Data may list an index twice, and SQLite does
    /// not distinguish names by case; the first one is made.
    package var madeIndexes: [NSFetchIndexDescription] {
        var names: Set<String> = []
        return layout.description.indexes.filter { index in
            let isRelationship =
                index.elements.count == 1 && index.partialIndexPredicate == nil
                && index.elements[0].propertyName.flatMap { column(named: $0)?.destination } != nil
            return !isRelationship && names.insert(index.name.uppercased()).inserted
        }
    }
}
