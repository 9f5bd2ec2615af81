"""What the evidence comes to, and how it is shown: verdict, evidence, pictures, further looks."""
