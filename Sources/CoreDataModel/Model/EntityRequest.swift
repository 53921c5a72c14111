/// A fetch request, as far as a model knows it: a higher room defines it.
package protocol EntityRequest: AnyObject {
    var entityName: String? { get }

    /// All that it asks for, as text.
    var summary: String { get }

    /// Asks for the objects of an entity, which may be another model's of the same name, and for its properties.
    func lead(to entity: NSEntityDescription)
}
