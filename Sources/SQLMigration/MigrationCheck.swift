import MigrationPlans
import SQLGeneration

/// A `SELECT` that must return no rows, and the meaning of a row.
package struct MigrationCheck {
    package let select: SQLFragment
    package let violation: MigrationViolation

    package init(_ select: SQLFragment, _ violation: MigrationViolation) {
        (self.select, self.violation) = (select, violation)
    }
}
