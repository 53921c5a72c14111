/// The name under which an object's URI is written among its values.
enum ObjectHead {
    static let name = "objectID"

    /// The name under which a property is written: another one if it has that name, as a file may say.
    static func property(_ property: String) -> String { property == name ? "\(name) 2" : property }
}
