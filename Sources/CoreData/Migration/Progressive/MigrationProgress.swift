/// How far a migration over several versions is.
package struct MigrationProgress: Equatable, Sendable {
    /// The step that is being done, from 1.
    package var step: Int
    package var stepCount: Int
    /// The names of the versions that the step leads from and to.
    package var source: String
    package var destination: String
    /// The part of the whole chain that is done, from 0 to 1.
    package var fractionCompleted: Double
}
