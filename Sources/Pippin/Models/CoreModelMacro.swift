/// Makes a struct a ``CoreModel`` whose rows are read and written column by column, by code that is generated at
/// compile time.
///
/// ```swift
/// @CoreModel
/// struct Person {
///     let id: UUID
///     var name: String
///     private var note: String?
/// }
/// ```
///
/// The model is stored exactly as with `: CoreModel` and synthesized coding; it is only faster. The stored properties
/// are the columns, including private ones. Filters and orders take those with `willSet` or `didSet`, too.
///
/// If a type declares `init(from:)`, `encode(to:)` or `CodingKeys`, is a final class, or has lazy or wrapped properties
/// or constants with a value, it is read and written by its coding: the macro adds only the conformance. Declare your
/// own coding in the type itself; the compiler rejects it in an extension as a redeclaration.
///
/// In a module whose declarations belong to the main actor by default, models belong to no actor. Mark the structs that
/// are their values `nonisolated`, since they are coded off the main actor.
@attached(
    extension, conformances: CoreModel, names: named(CodingKeys), named(init(from:)), named(encode(to:)),
    named(init(columns:)), named(write(columns:)), named(compiledColumns), named(observedProperties))
public macro CoreModel() = #externalMacro(module: "PippinMacros", type: "CoreModelMacro")
