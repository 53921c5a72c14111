import CoreDataModel
import SQLGeneration

extension StoreCatalog {
    /// The numbers of a model's entities. Apple's lightweight migration leaves a renamed entity under its former name
    /// in `Z_PRIMARYKEY`: it is found by its renaming identifier, unless an entity of the model has that name.
    package func numbers(for model: NSManagedObjectModel) -> [String: Int] {
        var known = numbers
        let names = model.entitiesByName
        for (name, entity) in names where numbers[name] == nil {
            guard let former = entity.renamingIdentifier, names[former] == nil else { continue }
            known[name] = numbers[former]
        }
        return known
    }
}
