/// The human-readable names and messages in a model's localization dictionary, each under a key with its kind as a
/// prefix.
struct ModelWords {
    private let dictionary: [String: String]

    init(of object: NSManagedObject) {
        dictionary = object.layout.description.model?.localizationDictionary ?? [:]
    }

    func entity(_ name: String) -> String { dictionary["Entity/\(name)"] ?? name }

    /// The name of a property; an entity may have its own.
    func property(_ name: String, of entity: String) -> String {
        dictionary["Property/\(name)/Entity/\(entity)"] ?? dictionary["Property/\(name)"] ?? name
    }

    func errorString(_ message: String) -> String { dictionary["ErrorString/\(message)"] ?? message }
}
