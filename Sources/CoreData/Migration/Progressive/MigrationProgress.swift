/// The progress of a migration over several versions.
package struct MigrationProgress: Equatable, Sendable {
    /// The current step, from 1.
    package var step: Int
    package var stepCount: Int
    /// The names of the step's source and destination versions.
    package var source: String
    package var destination: String
    /// The completed part of the whole chain, from 0 to 1.
    package var fractionCompleted: Double
}
