import Observation

/// Makes a class a model, whose variables are kept in a store.
///
/// ```swift
/// @Model
/// final class Book {
///     @Attribute(.unique) var isbn: String
///     var title: String
///     @Relationship(deleteRule: .cascade, inverse: \Review.book) var reviews: [Review] = []
///
///     init(isbn: String, title: String) {
///         self.isbn = isbn
///         self.title = title
///     }
/// }
/// ```
///
/// Every stored `var` is persisted, unless it is marked `@Transient`. Types of properties are those that Core Data
/// knows, types that are `Codable`, other models, and arrays of models.
@attached(
    member, conformances: Observable, PersistentModel, Sendable, names: named(_$backingData),
    named(_$initializersMayFail), named(persistentBackingData), named(schemaMetadata), named(init),
    named(_$observationRegistrar), named(_SwiftDataNoType), named(access), named(withMutation))
@attached(memberAttribute)
@attached(extension, conformances: Observable, PersistentModel, Sendable)
public macro Model() = #externalMacro(module: "PippinMacros", type: "PersistentModelMacro")

/// Makes an actor one that works on a store with a context of its own.
///
/// ```swift
/// @ModelActor
/// actor Importer {
///     func add(_ title: String) throws {
///         modelContext.insert(Book(isbn: UUID().uuidString, title: title))
///         try modelContext.save()
///     }
/// }
/// let importer = Importer(modelContainer: container)
/// ```
///
/// An actor that declares an initializer sets `modelExecutor` and `modelContainer` itself.
@attached(member, names: named(modelExecutor), named(modelContainer), named(init))
@attached(extension, conformances: ModelActor)
public macro ModelActor() = #externalMacro(module: "PippinMacros", type: "PersistentModelActorMacro")

/// Says how an attribute is kept.
///
/// - Parameters:
///   - options: `.unique`, `.externalStorage`, `.transformable(by:)` and others.
///   - originalName: the attribute's name in the previous version of the schema.
///   - hashModifier: marks a change of meaning that the declaration does not show.
@attached(peer)
public macro Attribute(
    _ options: Schema.Attribute.Option..., originalName: String? = nil, hashModifier: String? = nil
) = #externalMacro(module: "PippinMacros", type: "AttributePropertyMacro")

/// Says how models are related.
///
/// - Parameters:
///   - options: `.unique`.
///   - deleteRule: what happens to the related models when the model is deleted.
///   - minimumModelCount: the smallest number of related models.
///   - maximumModelCount: the largest number of related models; 0 for no limit.
///   - originalName: the relationship's name in the previous version of the schema.
///   - inverse: the relationship that leads back, `\Review.book`. Only one side names it.
///   - hashModifier: marks a change of meaning that the declaration does not show.
@attached(peer)
public macro Relationship(
    _ options: Schema.Relationship.Option..., deleteRule: Schema.Relationship.DeleteRule = .nullify,
    minimumModelCount: Int? = 0, maximumModelCount: Int? = 0, originalName: String? = nil,
    inverse: AnyKeyPath? = nil, hashModifier: String? = nil
) = #externalMacro(module: "PippinMacros", type: "RelationshipPropertyMacro")

/// Leaves a variable of a model out of the store. It has its initial value again after each fetch.
@attached(peer)
public macro Transient() = #externalMacro(module: "PippinMacros", type: "TransientPropertyMacro")

/// Declares which properties of a model are unique together: `#Unique<Book>([\.isbn], [\.title, \.year])`.
///
/// A new model with the values of a saved one becomes an update of that one at the save.
///
/// - Parameter constraints: the properties of each constraint.
@freestanding(declaration)
public macro Unique<T>(_ constraints: [PartialKeyPath<T>]...) =
    #externalMacro(module: "PippinMacros", type: "UniqueConstraintsMacro") where T: PersistentModel

/// Declares the indexes of a model's table: `#Index<Book>(.binary([\.title]))`.
///
/// - Parameter indices: the indexes.
@freestanding(declaration)
public macro Index<T>(_ indices: Schema.Index<T>.Types<T>...) =
    #externalMacro(module: "PippinMacros", type: "IndexMacro") where T: PersistentModel

/// Declares the indexes of a model's table: `#Index<Book>([\.title], [\.year, \.title])`.
///
/// - Parameter indices: the properties of each index.
@freestanding(declaration)
public macro Index<T>(_ indices: [PartialKeyPath<T>]...) =
    #externalMacro(module: "PippinMacros", type: "IndexMacro") where T: PersistentModel

/// Reads and writes a variable of a model in its backing data. `@Model` attaches it.
@attached(accessor, names: named(init), named(get), named(set), named(_modify))
@attached(peer, names: prefixed(`_`))
public macro _PersistedProperty() = #externalMacro(module: "PippinMacros", type: "PersistedPropertyMacro")

/// Reads and writes a variable of a model of which a transformer makes bytes. `@Model` attaches it.
@attached(accessor, names: named(init), named(get), named(set))
@attached(peer, names: prefixed(`_`))
public macro _TransformablePersistedProperty() =
    #externalMacro(module: "PippinMacros", type: "TransformablePersistedPropertyMacro")
