import CoreData

extension NSManagedObjectModel {
    /// The managed object model of model classes, for programs that open a store of theirs with Core Data.
    ///
    /// - Parameters:
    ///   - entityTypes: the classes; those that are related to them are added.
    ///   - managedObjectModel: a model whose entities are added; nil for none.
    /// - Returns: nil for classes that cannot be kept in a store.
    public static func makeManagedObjectModel(
        for entityTypes: [any PersistentModel.Type], mergedWith managedObjectModel: NSManagedObjectModel? = nil
    ) -> NSManagedObjectModel? {
        makeManagedObjectModel(for: Schema(entityTypes), mergedWith: managedObjectModel)
    }

    /// The managed object model of model classes, for programs that open a store of theirs with Core Data.
    ///
    /// - Parameters:
    ///   - entityTypes: the classes; those that are related to them are added.
    ///   - managedObjectModel: a model whose entities are added; nil for none.
    /// - Returns: nil for classes that cannot be kept in a store.
    public static func makeManagedObjectModel(
        for entityTypes: any PersistentModel.Type..., mergedWith managedObjectModel: NSManagedObjectModel? = nil
    ) -> NSManagedObjectModel? { makeManagedObjectModel(for: entityTypes, mergedWith: managedObjectModel) }

    /// The managed object model of a schema, for programs that open a store of it with Core Data.
    ///
    /// - Parameters:
    ///   - schema: the schema.
    ///   - managedObjectModel: a model whose entities are added; nil for none.
    /// - Returns: nil for a schema that cannot be kept in a store.
    public static func makeManagedObjectModel(
        for schema: Schema, mergedWith managedObjectModel: NSManagedObjectModel? = nil
    ) -> NSManagedObjectModel? {
        guard let model = try? ManagedModel.model(of: schema, showsModels: false) else { return nil }
        guard let managedObjectModel else { return model }
        return NSManagedObjectModel(byMerging: [model, managedObjectModel])
    }
}
